import { existsSync, writeFileSync } from 'node:fs';
import { threadId } from 'node:worker_threads';
import { handOver } from '../../src/worker/pool.js';
import { waitAt } from '../support/channel-place.js';

/** Instructions for a pool thread. */
export type OddTask =
  | { readonly send: unknown }
  | { readonly bytes: ArrayBuffer }
  /** Announces on a channel that it waits, and responds when asked to continue. */
  | { readonly waitAt: string }
  | { readonly fail: string }
  | { readonly exit: number }
  /** Ends the thread and prevents others from starting while the file exists. */
  | { readonly breakBy: string };

/** The environment variable that names the file of `breakBy`. */
export const BROKEN_BY = 'JACKDAW_TEST_BROKEN_BY';

if (existsSync(process.env[BROKEN_BY] ?? '')) throw new Error('this thread is broken');

export default async function odd(task: OddTask): Promise<unknown> {
  if ('send' in task) return { value: task.send, thread: threadId };
  if ('bytes' in task) {
    const answer = new Uint8Array(task.bytes).map((byte) => byte + 1).buffer;
    return handOver({ answer }, [answer]);
  }
  if ('waitAt' in task) {
    await waitAt(task.waitAt);
    return { value: 'waited', thread: threadId };
  }
  if ('fail' in task) throw new TypeError(task.fail);
  if ('exit' in task) process.exit(task.exit);
  writeFileSync(task.breakBy, '');
  process.exit(6);
}
