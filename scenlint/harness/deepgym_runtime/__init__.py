"""What DeepGym verifiers run with: the judge around them, the module `deepgym_solution`, and the solution's side of it.

Written from the published contract. It runs inside of sandboxes, so it imports the standard library only. The judge's
sandbox has the verifier; each solution has one of its own, made by the harness on request (`harness.solutions`), and
only plain data crosses between the two.
"""
