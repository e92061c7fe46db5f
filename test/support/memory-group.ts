import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { until } from './until.js';

/** A control group that limits the memory of the processes started in it. */
export interface MemoryGroup {
  /** Command prefix for such processes. */
  readonly through: readonly string[];
  /** Bytes in use, without the page cache. */
  used(): number;
}

/** By the version of control groups: the folder of the memory controller, the limit of a group, and the name of what is in use. */
const VERSIONS = [
  { folder: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes', used: 'rss' },
  { folder: '/sys/fs/cgroup', limit: 'memory.max', used: 'anon' },
];

/**
 * Creates a control group, which is removed with the test.
 *
 * @returns null, with a comment, if that is impossible here: it takes root and a writable hierarchy of control groups. (A limit of the
 *   address space is no substitute, because a daemon reads its budget from the group.)
 */
export function memoryGroup(t: Pick<Test, 'teardown' | 'comment'>, bytes: number): MemoryGroup | null {
  const version = VERSIONS.find(({ folder, limit }) => existsSync(folder) && limitsIn(folder, limit));
  if (version === undefined) {
    t.comment('skipped: control groups for memory cannot be created here (run as root)');
    return null;
  }
  const folder = join(version.folder, `jackdaw-test-${process.pid}-${String(Date.now())}`);
  mkdirSync(folder);
  t.teardown(async () => {
    // The last process leaves the group a moment after its end.
    await until(
      'the control group is empty',
      () => readFileSync(join(folder, 'cgroup.procs'), 'utf8') === '',
    );
    rmdirSync(folder);
  });
  writeFileSync(join(folder, version.limit), String(bytes));
  const script = 'echo $$ > "$0/cgroup.procs" && exec "$@"';
  return {
    through: ['sh', '-c', script, folder],
    used: () => {
      const stats = readFileSync(join(folder, 'memory.stat'), 'utf8');
      return Number(new RegExp(`^${version.used} (\\d+)$`, 'm').exec(stats)?.[1]);
    },
  };
}

/** Whether groups with a limit can be created in a folder. */
function limitsIn(folder: string, limit: string): boolean {
  const probe = join(folder, `jackdaw-probe-${process.pid}`);
  try {
    const control = join(folder, 'cgroup.subtree_control');
    if (existsSync(control)) writeFileSync(control, '+memory');
    mkdirSync(probe);
    const found = existsSync(join(probe, limit));
    rmdirSync(probe);
    return found;
  } catch {
    return false;
  }
}
