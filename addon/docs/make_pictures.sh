#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the manual's pictures from the real interface: drives Blender's window as tests/ui/test_first_sand.py and test_dots.py do.
# Needs a build (./build.sh test builds one) and xvfb.
set -euo pipefail
cd "$(dirname "$0")/../.."
python3 tests/run.py --build build/release --only ui --heavy -k test_first_sand
python3 tests/run.py --build build/release --only ui -k test_dots:panel_says
cp build/ui/first_sand/*.jpg build/ui/display/*.jpg addon/docs/pictures/
