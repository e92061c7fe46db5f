import { View } from './scope/view.js';
import { typeNamed } from './scope/record-types.js';
import type { Node } from './syntax-tree.js';

/**
 * Stands for `has` in what is given to CEL, which is as long, so that places stay what they are. CEL's own cannot be told which
 * fields a record is without: those read as empty.
 */
export const PRESENCE = 'Has';

/** What a macro of CEL is given to check its argument with. */
interface Checker {
  check(node: Node, context: unknown): { readonly name: string };
  createError(code: string, message: string, node: Node): Error;
  getType(name: string): unknown;
}

interface Evaluator {
  run(node: Node, context: unknown): unknown;
}

interface Presence {
  readonly args: readonly Node[];
}

/**
 * `has(a.b.c)`: whether there is a value. Unlike CEL's own it is also false where `a.b` is not there, and knows the fields that
 * a record may be without.
 */
export function presenceMacro({ args }: { readonly args: readonly Node[] }): object {
  return { args, typeCheck, evaluate, async: false };
}

function typeCheck(checker: Checker, { args }: Presence, context: unknown): unknown {
  const [node] = args;
  if (node?.op !== '.')
    throw checker.createError(
      'invalid_macro_argument',
      'has() needs a field, such as has(span.metadata.team)',
      node ?? ({} as Node),
    );
  const [object, name] = node.args;
  const type = typeNamed(checker.check(object, context).name);
  if (type !== undefined && !(name in type.fields))
    throw checker.createError('no_such_key', `No such key: ${name}`, node);
  return checker.getType('bool');
}

function evaluate(evaluator: Evaluator, { args }: Presence, context: unknown): boolean {
  const names: string[] = [];
  let [node] = args;
  while (node?.op === '.') {
    names.push(node.args[1]);
    node = node.args[0];
  }
  if (node === undefined) return false;
  let value = evaluator.run(node, context);
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    if (value instanceof View) {
      if (!value.has(name)) return false;
    } else if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return false;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value !== undefined;
}
