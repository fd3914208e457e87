// Nobody reads the output: no traceback.
// RUN: %python -c "import subprocess, sys; p = subprocess.Popen([sys.executable, '-m', 'tir_mlir.opt', sys.argv[1]], stdout=-1, stderr=-1); p.stdout.close(); print('rc', p.wait(), p.stderr.read().decode())" %s | FileCheck %s

// CHECK: rc 1
// CHECK-NOT: {{Traceback|BrokenPipe}}

func.func @f() { return }
