"""Fills a new tracker with the people, keywords and issues of the desk."""
import sys

from roundup import instance, password

PEOPLE = ["dora", "nadia", "nadia.b", "piotr", "yusuf"]
KEYWORDS = ["lift", "waste", "water"]
# title, priority, status, assigned to, keywords; the number of an issue is its place in this list.
ISSUES = [
    ("Front door of house 1 does not lock", "urgent", "resolved", "yusuf", []),
    ("Lift in house 5 stops between floors", "critical", "in-progress", "piotr", ["lift"]),
    ("Bins behind house 2 overflow", "bug", "unread", None, ["waste"]),
    ("No light on the stairs of house 6", "bug", "resolved", "piotr", []),
    ("Bicycle stand for house 4", "wish", "deferred", "piotr", []),
    ("Water in the cellar of house 8", "urgent", "in-progress", "yusuf", ["water"]),
    ("Letter box 14 is bent", "bug", "testing", "nadia", []),
    ("Playground fence has a hole", "urgent", "chatting", "nadia.b", []),
    ("Water in the cellar of house 3", "urgent", "in-progress", "yusuf", ["water"]),
    ("Lift in house 2 needs its yearly check", "feature", "need-eg", "piotr", ["lift"]),
    ("Rats seen near the bins of house 7", "critical", "in-progress", "nadia.b", ["waste"]),
    ("Gutter of house 1 leaks", "bug", "unread", "piotr", ["water"]),
    ("Benches in the yard want paint", "wish", "deferred", None, []),
    ("Door bell of flat 31 is silent", "bug", "resolved", "piotr", []),
    ("Tap in the laundry drips", "bug", "done-cbb", "piotr", ["water"]),
    ("Radiator in flat 21 stays cold", "urgent", "resolved", "nadia", []),
    ("Lift in house 5 smells of smoke", "critical", "resolved", "piotr", ["lift"]),
    ("Bulky waste on the landing of house 6", "bug", "chatting", "yusuf", ["waste"]),
    ("Smoke alarm in flat 8 beeps", "urgent", "in-progress", "nadia", []),
    ("Snow on the path to house 4", "urgent", "unread", "piotr", []),
    ("Window in flat 17 does not close", "bug", "testing", "nadia.b", []),
    ("Cellar of house 8 under water again", "urgent", "unread", None, ["water"]),
    ("Cellar of house 3 under water", "urgent", "unread", None, ["water"]),
    ("Name plates for house 7", "feature", "deferred", "piotr", []),
]


def main(home):
    db = instance.open(home).open("admin")
    for name in PEOPLE:
        secret = password.Password("Kettle-and-Key-7" if name == "dora" else f"{name}-not-used-9", config=db.config)
        db.user.create(username=name, password=secret, address=f"{name}@desk.example", roles="User")
    for name in KEYWORDS:
        db.keyword.create(name=name)
    for title, priority, status, person, keywords in ISSUES:
        db.issue.create(
            title=title,
            priority=db.priority.lookup(priority),
            status=db.status.lookup(status),
            assignedto=db.user.lookup(person) if person else None,
            keyword=[db.keyword.lookup(name) for name in keywords],
        )
    db.commit()
    db.close()


main(sys.argv[1])
