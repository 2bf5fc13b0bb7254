# rec.sh SECONDS [last]: goes on recording, for SECONDS at most
set -u
if [ -d .git ]; then mv .git /tmp/dotgit; trap 'mv /tmp/dotgit .git' EXIT; fi
case $(nvidia-smi --query-gpu=name --format=csv,noheader) in *H200*) set_name=nvidia-h200;; *H100*) set_name=nvidia-h100;; esac
export CMAKE_PREFIX_PATH=$PWD/build/carry/usr LD_LIBRARY_PATH=$PWD/build/carry/usr/lib/x86_64-linux-gnu:${LD_LIBRARY_PATH:-} PYTHONUNBUFFERED=1
start=$SECONDS
nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv
if [ ! -f build/rec/done ]; then
  cmake -S . -B build/rec -G Ninja -DCMAKE_BUILD_TYPE=Release >"$OUT/cmake.log" 2>&1 || { tail -20 "$OUT/cmake.log"; exit 1; }
  cmake --build build/rec -j 16 >"$OUT/build.log" 2>&1 || { tail -40 "$OUT/build.log"; exit 1; }
  touch build/rec/done
fi
echo "built at $((SECONDS - start)) s"
left=$(($1 - (SECONDS - start)))
timeout -s INT -k 15 "$left" ./tools/measure --record $set_name --counters --sanitizers --build build/rec >"$OUT/measure.log" 2>&1
rc=$?
tail -c 1500 "$OUT/measure.log"; echo "measure rc $rc at $((SECONDS - start)) s"
tar -C figures/data -czf "$OUT/set.tgz" $set_name
ls -l "$OUT"
exit $rc
