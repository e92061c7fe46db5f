import type { ThreadClient } from './thread-client.js';

/**
 * Lets a thread finish its work, then ends it. At the deadline, calls its method `abortPending`; the thread is never ended during its work.
 *
 * @param method of the thread, which resolves at the end of its work
 * @throws what the method threw, or why the thread ended before
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
