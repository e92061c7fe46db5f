import { resolveTo, type Resolution, type Resolve } from './plugin-imports.js';

/** The import hooks for `module.register`, which Node.js up to 22.14 runs in a separate thread. */

let own: Resolve<Promise<Resolution>> | undefined;

/**
 * Called first.
 *
 * @param href URL of the module that `jackdaw` resolves to
 */
export function initialize(href: string): void {
  own = resolveTo(href);
}

export const resolve: Resolve<Promise<Resolution>> = (specifier, context, next) =>
  own ? own(specifier, context, next) : next(specifier, context);
