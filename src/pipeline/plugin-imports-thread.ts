import { resolveTo, type Resolution, type Resolve } from './plugin-imports.js';

/** The hooks of Node.js up to 22.14, which runs them in a thread of their own, as `module.register` takes them. */

let own: Resolve<Promise<Resolution>> | undefined;

/** Is called first. @param href of the module that the plugins' name for the program stands for */
export function initialize(href: string): void {
  own = resolveTo(href);
}

export const resolve: Resolve<Promise<Resolution>> = (specifier, context, next) =>
  own ? own(specifier, context, next) : next(specifier, context);
