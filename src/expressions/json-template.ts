import { hasHole, partsOfText } from '../config/holes.js';
import type { JsonValue } from '../signal/attributes.js';
import { serializeJson } from '../signal/json.js';
import { compile, type Expression } from './expression.js';
import { ExpressionError } from './expression-error.js';
import { jsonOf } from './json-value.js';
import type { Scope, ScopeName } from './scope/scopes.js';

/** Receives a failed expression: its path in the template, `/blocks/0/text`, and the error. */
export type OnFailure = (place: string, error: unknown) => void;

/** A JSON value with expressions in its texts, compiled. */
export interface JsonTemplate {
  /**
   * The value for an item. A text that is exactly one expression becomes its value, of any type; inside a longer text, the value is
   * inserted as text. A failed expression becomes null, or an empty text.
   */
  render(scope: Scope, onFailure: OnFailure): JsonValue;
  /** Whether it has no expression, and so is always the same. */
  readonly isConstant: boolean;
}

interface TemplateProblem {
  readonly path: string;
  readonly message: string;
}

/** Problems of a template, each with its path. @param path of the template: `/body` */
export function templateProblems(
  path: string,
  value: JsonValue,
  scope: ScopeName,
): readonly TemplateProblem[] {
  const problems: TemplateProblem[] = [];
  const permit = (at: string, part: JsonValue): void => {
    if (typeof part === 'string') {
      try {
        compileText(part, scope, at);
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error;
        problems.push({ path: at, message: error.message });
      }
    } else if (Array.isArray(part))
      part.forEach((child, index) => {
        permit(`${at}/${index}`, child);
      });
    else if (typeof part === 'object' && part !== null)
      for (const [key, child] of Object.entries(part)) {
        if (hasHole(key))
          problems.push({
            path: `${at}/${escaped(key)}`,
            message: 'a key cannot be an expression: write a map in CEL, ${{ {"key": "value"} }}',
          });
        permit(`${at}/${escaped(key)}`, child);
      }
  };
  permit(path, value);
  return problems;
}

/** Compiles a template without {@link templateProblems}. @throws ExpressionError if it has some */
export function compileTemplate(value: JsonValue, scope: ScopeName, place = ''): JsonTemplate {
  if (typeof value === 'string') return compileText(value, scope, place);
  if (Array.isArray(value)) {
    const items = value.map((child, index) => compileTemplate(child, scope, `${place}/${index}`));
    if (items.every(({ isConstant }) => isConstant)) return constant(value);
    return {
      isConstant: false,
      render: (values, onFailure) => items.map((item) => item.render(values, onFailure)),
    };
  }
  if (typeof value !== 'object' || value === null) return constant(value);
  const entries = Object.entries(value).map(
    ([key, child]) => [key, compileTemplate(child, scope, `${place}/${escaped(key)}`)] as const,
  );
  if (entries.every(([, { isConstant }]) => isConstant)) return constant(value);
  return {
    isConstant: false,
    render: (values, onFailure) =>
      Object.fromEntries(entries.map(([key, child]) => [key, child.render(values, onFailure)])),
  };
}

/** A value inside a longer text: texts unchanged, null as empty text, lists and maps as JSON. */
function textOf(value: JsonValue): string {
  if (value === null) return '';
  return typeof value === 'object' ? serializeJson(value) : String(value);
}

function constant(value: JsonValue): JsonTemplate {
  return { isConstant: true, render: () => value };
}

/** A text with expressions in it, compiled. */
export interface TextTemplate {
  readonly isConstant: boolean;
  /** @returns undefined if an expression fails */
  render(scope: Scope, onFailure: OnFailure): string | undefined;
}

/**
 * Compiles a text that always stays a text, without {@link templateProblems}.
 *
 * @param place of it, for failures
 * @param encode how the value of an expression is written
 */
export function compileTextTemplate(
  text: string,
  scope: ScopeName,
  place: string,
  encode: (value: string) => string = (value) => value,
): TextTemplate {
  const parts = partsOf(text, scope);
  return {
    isConstant: parts.every((part) => typeof part === 'string'),
    render: (values, onFailure) => {
      try {
        return parts
          .map((part) => (typeof part === 'string' ? part : encode(textOf(jsonOf(part.evaluate(values))))))
          .join('');
      } catch (error) {
        onFailure(place, error);
        return undefined;
      }
    },
  };
}

function partsOf(text: string, scope: ScopeName): readonly (string | Expression)[] {
  return partsOfText(text).map((part) =>
    part.isHole ? compileHole(part.source, scope, text) : text.slice(part.start, part.end),
  );
}

function compileText(text: string, scope: ScopeName, place: string): JsonTemplate {
  const parts = partsOf(text, scope);
  if (parts.every((part) => typeof part === 'string')) return constant(text);
  const evaluate = (expression: Expression, values: Scope, onFailure: OnFailure): JsonValue => {
    try {
      return jsonOf(expression.evaluate(values));
    } catch (error) {
      onFailure(place, error);
      return null;
    }
  };
  const [first] = parts;
  if (parts.length === 1 && first !== undefined && typeof first !== 'string')
    return { isConstant: false, render: (values, onFailure) => evaluate(first, values, onFailure) };
  return {
    isConstant: false,
    render: (values, onFailure) =>
      parts
        .map((part) => (typeof part === 'string' ? part : textOf(evaluate(part, values, onFailure))))
        .join(''),
  };
}

function compileHole(source: string | undefined, scope: ScopeName, text: string): Expression {
  if (source === undefined)
    throw new ExpressionError(
      '"${{" is not closed: write }} after the expression',
      text,
      text.indexOf('${{'),
    );
  return compile(source, scope);
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
