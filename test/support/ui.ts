import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { ApiCaller } from './api-caller.js';
import { accessibilityProblems, startBrowser, type Looks, type OpenPage } from './browser.js';
import { startTestDaemon, type TestDaemonOptions } from './daemon.js';

/** A hostile name, for injection checks. */
export const ODD_NAME = `100 % sure/50%25?#${'a-very-long-name-without-a-blank-'.repeat(7)}`;

export interface TestPages {
  readonly api: ApiCaller;
  /** `http://127.0.0.1:PORT` of the pages and the API. */
  readonly url: string;
  readonly key: string;
  /** A logged-in browser on a page. */
  readonly permit: (path: string, looks?: Looks) => Promise<OpenPage>;
  /** A browser that is not logged in. */
  readonly openUnknown: (path: string, looks?: Looks) => Promise<OpenPage>;
}

/** A whole daemon that serves the built pages, and a browser. Both end with the test. */
export async function startPages(
  t: Pick<Test, 'testdir' | 'teardown'>,
  options?: TestDaemonOptions,
): Promise<TestPages> {
  const { url, key } = await startTestDaemon(t, options);
  const browser = await startBrowser(t, url);
  const openUnknown = async (path: string, looks?: Looks): Promise<OpenPage> => {
    const opened = await browser.open(looks);
    await opened.page.goto(url + path);
    return opened;
  };
  return {
    api: new ApiCaller(url, key),
    url,
    key,
    openUnknown,
    permit: async (path, looks) => {
      const opened = await browser.open(looks);
      await opened.context.request.post(`${url}/api/v1/session`, {
        data: { key },
        headers: { 'X-Jackdaw': '1' },
      });
      await opened.page.goto(url + path);
      return opened;
    },
  };
}

/** Tables that overflow, except those that can be scrolled by keyboard. */
const CUT_TABLES = `[...document.querySelectorAll('main table')]
  .filter(({ parentElement: room }) => !room.hasAttribute('tabindex') && room.scrollWidth > room.clientWidth)
  .map(({ ariaLabel }) => ariaLabel)`;

/** Waits until a page has finished loading. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main :is(h1, h2)').first().waitFor();
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
}

/**
 * Checks accessibility: axe finds no problems in both themes, nothing overflows a narrow window, including tables, and the browser
 * reports no problems. Themes differ only in colours, so only these are checked again.
 *
 * @param options `narrow`: axe also checks the narrow window
 */
export async function lookRight(
  t: Pick<Test, 'same' | 'equal'>,
  { page, complaints }: OpenPage,
  paths: readonly string[],
  { narrow = false }: { readonly narrow?: boolean } = {},
): Promise<void> {
  for (const path of paths) {
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    await page.goto(new URL(path, page.url()).href);
    await settled(page);
    t.same(await accessibilityProblems(page), [], path);
    await page.setViewportSize({ width: 390, height: 844 });
    const isWithin = await page.evaluate('document.documentElement.scrollWidth <= innerWidth');
    t.equal(isWithin, true, `${path} at 390 px`);
    t.same(await page.evaluate(CUT_TABLES), [], `${path} at 390 px: rows are read whole`);
    if (narrow) t.same(await accessibilityProblems(page), [], `${path} at 390 px`);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    t.same(await accessibilityProblems(page, ['color-contrast']), [], `${path} in the dark`);
  }
  t.same(complaints, []);
}
