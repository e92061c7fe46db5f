import { View } from './scope/view.js';
import { typeNamed } from './scope/record-types.js';
import type { Node } from './syntax-tree.js';

/**
 * Replaces `has` in the source given to CEL, with the same length, so that positions stay valid. CEL's own cannot detect missing
 * fields of a record, which read as empty.
 */
export const PRESENCE = 'Has';

/** The checker that CEL passes to a macro. */
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
 * `has(a.b.c)`: whether the value exists. Unlike CEL's own, it is also false if `a.b` is missing, and it handles optional record
 * fields.
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
