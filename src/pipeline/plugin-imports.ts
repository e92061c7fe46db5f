import * as nodeModule from 'node:module';
import { furtherModule } from '../config/built-module.js';

/** The module name that plugins import. */
const NAME = 'jackdaw';

export interface Resolution {
  readonly url: string;
  readonly shortCircuit?: boolean;
}

export type Resolve<Result> = (
  specifier: string,
  context: object,
  next: (specifier: string, context: object) => Result,
) => Result | Resolution;

/** Exists from Node.js 22.15 on; these hooks run in the importing thread. */
type RegisterHooks = (hooks: { readonly resolve: Resolve<Resolution> }) => void;

let isRegistered = false;

/**
 * Makes `import … from 'jackdaw'` resolve to this program's own public API in every module: a plugin needs no link to the
 * program, and its errors are instances of the program's classes. Other imports are not affected.
 */
export function letPluginsImport(): void {
  if (isRegistered) return;
  isRegistered = true;
  const { href } = furtherModule(new URL('../index.js', import.meta.url));
  if ('registerHooks' in nodeModule)
    (nodeModule.registerHooks as RegisterHooks)({ resolve: resolveTo(href) });
  else nodeModule.register('./plugin-imports-thread.js', { parentURL: import.meta.url, data: href });
}

const STAMP = 'jackdaw-stamp';

/** A URL under which Node loads a module again if the stamp has changed, since it keeps modules by their URLs. */
export function withStamp(url: string, stamp: string): string {
  return stamp === '' ? url : `${url}?${STAMP}=${stamp}`;
}

/** @param href URL of the module that the name resolves to */
export function resolveTo<Result>(href: string): Resolve<Result> {
  return (specifier, context, next) => {
    if (specifier === NAME) return { url: href, shortCircuit: true };
    // The plugin's own modules are loaded again together with it.
    const { parentURL = '' } = context as { readonly parentURL?: string };
    const stamp = /\?jackdaw-stamp=(\w+)$/.exec(parentURL)?.[1];
    const isOwn = stamp !== undefined && /^\.\.?\//.test(specifier) && !specifier.includes('?');
    return next(isOwn ? withStamp(specifier, stamp) : specifier, context);
  };
}
