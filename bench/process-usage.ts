import { readdir, readFile } from 'node:fs/promises';

/** The kernel counts in hundredths of a second on every Linux that Node runs on (`getconf CLK_TCK`). */
const TICKS_PER_SECOND = 100;
const SAMPLE_MS = 200;

/** @returns resident memory in MiB; undefined off Linux, and when the process is gone */
export async function residentMiB(pid: number): Promise<number | undefined> {
  const status = await readProc(pid, 'status');
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(status ?? '')?.[1];
  return kib === undefined ? undefined : Number(kib) / 1024;
}

/** @returns CPU time used so far, in seconds, all threads; undefined off Linux, and when the process is gone */
export async function cpuSeconds(pid: number): Promise<number | undefined> {
  return secondsOf(await statFields(pid, 'stat'), USER, SYSTEM);
}

/** @returns how much a process has used since this was called, likewise */
export async function cpuSecondsFrom(pid: number): Promise<() => Promise<number | undefined>> {
  const before = await cpuSeconds(pid);
  return async () => {
    const after = await cpuSeconds(pid);
    return before === undefined || after === undefined ? undefined : after - before;
  };
}

/** @returns the same of its main thread alone */
export async function mainThreadSeconds(pid: number): Promise<number | undefined> {
  return secondsOf(await statFields(pid, `task/${pid}/stat`), USER, SYSTEM);
}

/** @returns the same of a process and all processes that it started, those that have ended included; undefined off Linux */
export async function familyCpuSeconds(pid: number): Promise<number | undefined> {
  const own = secondsOf(await statFields(pid, 'stat'), USER, SYSTEM, ENDED_USER, ENDED_SYSTEM);
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

/** Places in `/proc/PID/stat`, counted from behind the name of the program. */
const PARENT = 1;
const USER = 11;
const SYSTEM = 12;
/** Of processes that it started, which have ended. */
const ENDED_USER = 13;
const ENDED_SYSTEM = 14;

async function statFields(pid: number, file: string): Promise<readonly string[] | undefined> {
  const stat = await readProc(pid, file);
  // The name of the program, in brackets, may hold blanks.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function secondsOf(fields: readonly string[] | undefined, ...places: readonly number[]): number | undefined {
  if (fields === undefined) return undefined;
  return places.reduce((sum, place) => sum + Number(fields[place]), 0) / TICKS_PER_SECOND;
}

/** Watches the memory of a process. */
export class MemoryWatch {
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;
  #maxMiB: number | undefined;

  constructor(pid: number) {
    this.#pid = pid;
    this.#timer = setInterval(() => void this.#sample(), SAMPLE_MS);
  }

  /** Ends the watch. @returns MiB; undefined off Linux */
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
