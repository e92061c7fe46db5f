/** Something that is read, and may be empty now. */
export interface Readable<Page> {
  readonly read: () => Promise<Page>;
  readonly isEmpty: (page: Page) => boolean;
  /** @param listener is called after each change @returns what ends it */
  readonly watch: (listener: () => void) => () => void;
}

/**
 * Reads what is there, or waits until something is.
 *
 * @param wait where it fires, what is there then is read once more; absent: nothing is waited for
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
      // Before reading: whatever comes from here on may be missing from the page.
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
