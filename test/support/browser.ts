import axe from 'axe-core';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { Test } from 'tap';
import { launchChromium } from './chromium.js';

/** How a page is looked at. */
export type Looks = Pick<BrowserContextOptions, 'colorScheme' | 'viewport' | 'reducedMotion' | 'hasTouch'>;

export interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What went wrong in it: errors on the console, of scripts, refusals of the content policy, requests to elsewhere, dialogs. */
  readonly complaints: readonly string[];
}

export interface TestBrowser {
  /** A page of a browser that knows nothing: no cookie, nothing stored. */
  open(looks?: Looks): Promise<OpenPage>;
}

/** The browser of the package `@sparticuz/chromium`, one for a test file. It ends with the test. @param origin of the pages */
export async function startBrowser(t: Pick<Test, 'teardown'>, origin: string): Promise<TestBrowser> {
  const browser = await launchChromium();
  t.teardown(() => browser.close());
  return {
    open: async (looks = {}) => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...looks });
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => {
        // A policy's refusal is an error on the console, too. What the API refuses is shown on the page.
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

/** What axe finds on a page, a line for each element. @param runOnly the rules to go by; all where absent */
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
