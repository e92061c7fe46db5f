import type { CDPSession, Page } from 'playwright-core';

/** What is measured inside a page. Texts, since what runs in a browser knows other types than what runs here. */

/** Milliseconds from asking for a page until what it is about is in it and painted. @param shown the selector of that */
export async function timeToShow(page: Page, url: string, shown: string): Promise<number> {
  const begun = performance.now();
  await page.goto(url, { waitUntil: 'commit' });
  await page.locator(shown).first().waitFor();
  await page.evaluate('new Promise(requestAnimationFrame)');
  return performance.now() - begun;
}

/** KiB of everything that a page has loaded, as they were sent. */
export async function transferred(page: Page): Promise<number> {
  return await page.evaluate<number>(
    `[...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')]
      .reduce((sum, { transferSize }) => sum + transferSize, 0) / 1024`,
  );
}

/** Milliseconds between frames, while the first thing that can be scrolled is scrolled by some rows a frame. */
export async function framesWhileScrolling(page: Page, seconds: number): Promise<number[]> {
  return await page.evaluate<number[]>(
    `new Promise((resolve) => {
      const grid = document.querySelector('[role=treegrid]') ?? document.querySelector('main');
      const near = [grid, grid.parentElement, ...grid.querySelectorAll('*')];
      const box = near.find((one) => one.scrollHeight > one.clientHeight + 100 && getComputedStyle(one).overflowY !== 'visible')
        ?? document.scrollingElement;
      const gaps = [];
      let before = performance.now();
      const end = before + ${String(seconds * 1000)};
      const step = (now) => {
        gaps.push(now - before);
        before = now;
        box.scrollBy(0, 60);
        if (now < end) requestAnimationFrame(step);
        else resolve(gaps.slice(1));
      };
      requestAnimationFrame(step);
    })`,
  );
}

/** Milliseconds from each of some keys, pressed in a run's grid, to the frame that shows what it did. */
export async function keysToPaint(page: Page, keys: number): Promise<number[]> {
  await page.evaluate(
    `globalThis.keysToPaint = [];
    addEventListener('keydown', ({ timeStamp }) => {
      // What runs in a frame is painted before the next task.
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => globalThis.keysToPaint.push(performance.now() - timeStamp);
        port2.postMessage(null);
      });
    }, { capture: true });`,
  );
  await page.locator('[role=treegrid] [role=row]').nth(2).click();
  for (let pressed = 0; pressed < keys; pressed++) {
    await page.keyboard.press('ArrowDown');
    await page.waitForTimeout(50);
  }
  return await page.evaluate<number[]>('globalThis.keysToPaint');
}

/** The share of the time of some work in which the page's main thread did something. */
export async function busyWhile(cdp: CDPSession, work: () => Promise<void>): Promise<number> {
  await cdp.send('Performance.enable');
  const busySeconds = async () => {
    const { metrics } = await cdp.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0;
  };
  const [before, begun] = [await busySeconds(), performance.now()];
  await work();
  return ((await busySeconds()) - before) / ((performance.now() - begun) / 1000);
}
