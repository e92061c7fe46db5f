import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { ApiCaller } from './api-caller.js';
import { startBrowser, type Looks, type OpenPage } from './browser.js';
import { startTestDaemon, type TestDaemonOptions } from './daemon.js';

export interface TestPages {
  readonly api: ApiCaller;
  /** `http://127.0.0.1:PORT` of the pages and the API. */
  readonly url: string;
  readonly key: string;
  /** A browser that is logged in, on a page. */
  readonly visit: (path: string, looks?: Looks) => Promise<OpenPage>;
  /** One that is not. */
  readonly visitUnknown: (path: string, looks?: Looks) => Promise<OpenPage>;
}

/** A whole daemon that serves the built pages, and a browser. Both end with the test. */
export async function startPages(
  t: Pick<Test, 'testdir' | 'teardown'>,
  options?: TestDaemonOptions,
): Promise<TestPages> {
  const { url, key } = await startTestDaemon(t, options);
  const browser = await startBrowser(t, url);
  const visitUnknown = async (path: string, looks?: Looks): Promise<OpenPage> => {
    const opened = await browser.open(looks);
    await opened.page.goto(url + path);
    return opened;
  };
  return {
    api: new ApiCaller(url, key),
    url,
    key,
    visitUnknown,
    visit: async (path, looks) => {
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

/** Waits until nothing of a page is loading any more. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main :is(h1, h2)').first().waitFor();
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
}
