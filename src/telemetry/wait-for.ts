/** Waits until work is over, however it ends, or until the signal is aborted. */
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
