import axe from 'axe-core';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { Test } from 'tap';
import { launchChromium } from './chromium.js';

/** Settings of a page. */
export type Looks = Pick<BrowserContextOptions, 'colorScheme' | 'viewport' | 'reducedMotion' | 'hasTouch'>;

export interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Problems of the page: console errors, script errors, policy violations, foreign requests, dialogs. */
  readonly complaints: readonly string[];
}

export interface TestBrowser {
  /** A page in a fresh browser context without cookies or storage. */
  open(looks?: Looks): Promise<OpenPage>;
}

/** The browser of the package `@sparticuz/chromium`, one per test file. It ends with the test. @param origin of the pages */
export async function startBrowser(t: Pick<Test, 'teardown'>, origin: string): Promise<TestBrowser> {
  const browser = await launchChromium();
  t.teardown(() => browser.close());
  return {
    open: async (looks = {}) => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...looks });
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => {
        // A policy violation is a console error, too. API errors are shown on the page.
        if (message.type() === 'error' && !/^Failed to load resource/.test(message.text()))
          complaints.push(`console: ${message.text()}`);
      });
      page.on('pageerror', (error) => complaints.push(`script: ${String(error)}`));
      page.on('dialog', (dialog) => {
        complaints.push(`dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.on('request', (request) => {
        const url = request.url();
        if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) complaints.push(`request: ${url}`);
      });
      return { page, context, complaints };
    },
  };
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** The findings of axe on a page, one line per element. @param runOnly rules to apply; all by default */
export async function accessibilityProblems(
  page: Page,
  runOnly?: readonly string[],
): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const options = JSON.stringify({ resultTypes: ['violations'], ...(runOnly && { runOnly }) });
  const { violations } = await page.evaluate<{ readonly violations: readonly Violation[] }>(
    `axe.run(document, ${options})`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ html, failureSummary = '' }) =>
        `${id}: ${html.slice(0, 160)} ${failureSummary.replaceAll('\n', ' ')}`,
    ),
  );
}
