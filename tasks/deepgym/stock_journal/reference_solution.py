import json
from collections import Counter

stock = Counter()
done, undone = [], []

with open("journal.txt", encoding="utf-8") as journal:
    for line in journal:
        kind, *rest = line.split()
        if kind == "undo":
            if done:
                item, change = done.pop()
                stock[item] -= change
                undone.append((item, change))
        elif kind == "redo":
            if undone:
                item, change = undone.pop()
                stock[item] += change
                done.append((item, change))
        else:
            item, change = rest[0], int(rest[1]) if kind == "in" else -int(rest[1])
            if stock[item] + change >= 0:
                stock[item] += change
                done.append((item, change))
                undone.clear()

with open("stock.json", "w", encoding="utf-8") as file:
    json.dump({item: count for item, count in stock.items() if count}, file)
