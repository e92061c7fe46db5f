/** Files are looked at this often, because notices of the system are lost in network folders and Kubernetes' linked folders. */
const EVERY_MS = 500;

/**
 * Calls back when files have changed, and then not again within the interval: several writes of an editor are one change.
 *
 * @param stamp of the files: now, and when they were read last
 * @returns a function that ends it
 */
export function watchFiles(
  stamp: { readonly now: () => string; readonly ofRead: () => string },
  onChange: () => Promise<void>,
): () => void {
  let last = stamp.ofRead();
  let isBusy = false;
  const look = async (): Promise<void> => {
    const now = stamp.now();
    const isCalm = now === last;
    last = now;
    if (isCalm && now !== stamp.ofRead()) await onChange();
  };
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    void look()
      .catch(() => undefined)
      .finally(() => (isBusy = false));
  }, EVERY_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}
