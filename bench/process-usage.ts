import { readdir, readFile } from 'node:fs/promises';

/** `getconf CLK_TCK`: 100 on every Linux platform that Node supports. */
const TICKS_PER_SECOND = 100;
const SAMPLE_MS = 200;

/** Returns resident memory in MiB; undefined off Linux or if the process has exited. */
export async function residentMiB(pid: number): Promise<number | undefined> {
  const status = await readProc(pid, 'status');
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(status ?? '')?.[1];
  return kib === undefined ? undefined : Number(kib) / 1024;
}

/** Returns the CPU time of all threads so far, in seconds; undefined off Linux or if the process has exited. */
export async function cpuSeconds(pid: number): Promise<number | undefined> {
  return secondsOf(await statFields(pid, 'stat'), USER, SYSTEM);
}

/** Returns a function that returns the CPU time since this call, in seconds. */
export async function cpuSecondsFrom(pid: number): Promise<() => Promise<number | undefined>> {
  const before = await cpuSeconds(pid);
  return async () => {
    const after = await cpuSeconds(pid);
    return before === undefined || after === undefined ? undefined : after - before;
  };
}

/** Returns the CPU time of the main thread so far, in seconds. */
export async function mainThreadSeconds(pid: number): Promise<number | undefined> {
  return secondsOf(await statFields(pid, `task/${pid}/stat`), USER, SYSTEM);
}

/** Returns the CPU time of a process and its children, including exited ones, in seconds; undefined off Linux. */
export async function cpuSecondsWithChildren(pid: number): Promise<number | undefined> {
  const own = secondsOf(await statFields(pid, 'stat'), USER, SYSTEM, CHILDREN_USER, CHILDREN_SYSTEM);
  if (own === undefined) return undefined;
  const others = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const times = await Promise.all(
    others.map(async (other) => {
      const fields = await statFields(other, 'stat');
      return Number(fields?.[PARENT]) === pid ? (secondsOf(fields, USER, SYSTEM) ?? 0) : 0;
    }),
  );
  return times.reduce((sum, seconds) => sum + seconds, own);
}

/** Indexes in `/proc/PID/stat` after the program name. */
const PARENT = 1;
const USER = 11;
const SYSTEM = 12;
/** CPU time of exited children. */
const CHILDREN_USER = 13;
const CHILDREN_SYSTEM = 14;

async function statFields(pid: number, file: string): Promise<readonly string[] | undefined> {
  const stat = await readProc(pid, file);
  // The program name in parentheses may contain spaces.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function secondsOf(fields: readonly string[] | undefined, ...indexes: readonly number[]): number | undefined {
  if (fields === undefined) return undefined;
  return indexes.reduce((sum, index) => sum + Number(fields[index]), 0) / TICKS_PER_SECOND;
}

/** Samples the memory of a process. */
export class MemoryWatch {
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;
  #maxMiB: number | undefined;

  constructor(pid: number) {
    this.#pid = pid;
    this.#timer = setInterval(() => void this.#sample(), SAMPLE_MS);
  }

  /** Stops sampling. @returns MiB; undefined off Linux */
  async stop(): Promise<{ readonly maxMiB: number | undefined; readonly endMiB: number | undefined }> {
    clearInterval(this.#timer);
    const endMiB = await this.#sample();
    return { maxMiB: this.#maxMiB, endMiB };
  }

  async #sample(): Promise<number | undefined> {
    const now = await residentMiB(this.#pid);
    if (now !== undefined) this.#maxMiB = Math.max(now, this.#maxMiB ?? 0);
    return now;
  }
}

async function readProc(pid: number, file: string): Promise<string | undefined> {
  try {
    return await readFile(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}
