import type { ThreadClient } from './thread-client.js';

/**
 * Lets a thread finish its work, then ends it. At the deadline it calls the thread's method `abortPending`; the thread is never
 * ended during its work.
 *
 * @param method of the thread, which resolves at the end of its work
 * @throws errors of the method, or the reason why the thread ended before
 */
export async function endThread(thread: ThreadClient, method: string, deadline: AbortSignal): Promise<void> {
  const abortPending = (): void => {
    thread.call('abortPending', []).catch(() => undefined);
  };
  deadline.addEventListener('abort', abortPending, { once: true });
  try {
    if (deadline.aborted) abortPending();
    await thread.call(method, []);
  } finally {
    deadline.removeEventListener('abort', abortPending);
    await thread.close();
  }
}
