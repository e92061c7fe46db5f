import { resolveTo, type Resolution, type Resolve } from './plugin-imports.js';

/** The hooks of Node.js up to 22.14, which runs them in a thread of their own, as `module.register` takes them. */

let own: Resolve<Promise<Resolution>> | undefined;

/** Called first. @param href of the module for which the plugins' name of the program stands */
export function initialize(href: string): void {
  own = resolveTo(href);
}

export const resolve: Resolve<Promise<Resolution>> = (specifier, context, next) =>
  own ? own(specifier, context, next) : next(specifier, context);
