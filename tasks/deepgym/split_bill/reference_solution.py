def split_bill(cents, weights):
    total = sum(weights)
    if total <= 0:
        raise ValueError("nobody has a weight above 0")
    shares = [cents * weight // total for weight in weights]
    # Stable, so that of equal remainders the earlier one comes first.
    by_cut = sorted(range(len(weights)), key=lambda i: -(cents * weights[i] % total))
    for i in by_cut[: cents - sum(shares)]:
        shares[i] += 1
    return shares
