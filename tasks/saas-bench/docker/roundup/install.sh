#!/bin/bash
# Makes the tracker and fills it, once, while the image is built.
set -euo pipefail
here=$(dirname "$0")
home=${DESK_HOME:-/srv/desk}
roundup-admin -i "$home" install classic sqlite \
  "mail_domain=desk.example,mail_host=localhost,mail_debug=$home/mail.log,admin_email=desk@desk.example,tracker_web=http://localhost:8080/desk/"
roundup-admin -i "$home" initialise Desk-Admin-1
python3 "$here/seed.py" "$home"
