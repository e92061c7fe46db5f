/** A page to read, which may be empty, and notifications of changes. */
export interface Readable<Page> {
  readonly read: () => Promise<Page>;
  readonly isEmpty: (page: Page) => boolean;
  /** @param listener is called after each change @returns a function that stops watching */
  readonly watch: (listener: () => void) => () => void;
}

/**
 * Reads a page, or waits until it is not empty.
 *
 * @param wait when it fires, the page is read once more and returned; absent: returns at once
 */
export async function readWhenThere<Page>(
  { read, isEmpty, watch }: Readable<Page>,
  wait?: AbortSignal,
): Promise<Page> {
  if (wait === undefined) return await read();
  let isCalled = false;
  let wake = (): void => undefined;
  const call = (): void => {
    isCalled = true;
    wake();
  };
  const unwatch = watch(call);
  wait.addEventListener('abort', call);
  try {
    for (;;) {
      // Reset before reading: later changes may be missing from the page.
      isCalled = false;
      const page = await read();
      if (!isEmpty(page) || wait.aborted) return page;
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (isCalled) resolve();
      });
    }
  } finally {
    unwatch();
    wait.removeEventListener('abort', call);
  }
}
