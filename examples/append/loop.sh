#!/bin/sh
# A loop in a shell: one command for each message, and the answer while it arrives.
set -eu

model() { echo "$1" | sed 's/2 + 2/4/; s/3 + 3/6/' | tr -d '\n'; }  # your model

session=
for question in '2 + 2' '3 + 3'; do
  if [ -z "$session" ]; then
    session=$(printf %s "$question" | reprise append --new --title Sums | cut -d' ' -f1)
  else
    printf %s "$question" | reprise append "$session" >/dev/null
  fi
  answer=$(reprise answer begin "$session" --model sed)
  model "$question" | reprise answer add "$session" "$answer"
  reprise answer end "$session" "$answer" >/dev/null
done
reprise show "$session" --raw
