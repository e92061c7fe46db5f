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

/** Of Node.js from 22.15 on, where hooks run in the thread that imports. */
type RegisterHooks = (hooks: { readonly resolve: Resolve<Resolution> }) => void;

let isRegistered = false;

/**
 * After this call, `import … from 'jackdaw'` resolves to this program's own public API from any module: a plugin needs no link to the
 * program, and its errors are instances of the program's classes. No other import is affected.
 */
export function letPluginsImport(): void {
  if (isRegistered) return;
  isRegistered = true;
  const { href } = furtherModule(new URL('../index.js', import.meta.url));
  if ('registerHooks' in nodeModule)
    (nodeModule.registerHooks as RegisterHooks)({ resolve: resolveTo(href) });
  else nodeModule.register('./plugin-imports-thread.js', { parentURL: import.meta.url, data: href });
}

/** @param href of the module for which the name stands */
export function resolveTo<Result>(href: string): Resolve<Result> {
  return (specifier, context, next) =>
    specifier === NAME ? { url: href, shortCircuit: true } : next(specifier, context);
}
