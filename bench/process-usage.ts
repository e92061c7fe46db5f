import { readFile } from 'node:fs/promises';

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
  const stat = await readProc(pid, 'stat');
  // The name of the program, in brackets, may hold blanks.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system] = [fields?.[11], fields?.[12]];
  return user === undefined || system === undefined
    ? undefined
    : (Number(user) + Number(system)) / TICKS_PER_SECOND;
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
