/** Waits until work is over, however it ends, but not longer than until the signal fires. */
export async function waitFor(work: Promise<unknown>, end: AbortSignal): Promise<void> {
  if (end.aborted) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      end.removeEventListener('abort', done);
      resolve();
    };
    end.addEventListener('abort', done);
    work.then(done, done);
  });
}
