import type { JsonValue } from '../../../signal/attributes.js';
import type { UsagePart } from '../../../signal/call-details.js';
import { usageFigure, type UsageFigure } from '../../../signal/usage-object.js';
import { isObject } from '../json-text.js';
import type { Reader } from './convention.js';
import { count, objectOf } from './readers.js';

/** Keys of objects in which providers report usage, one level below the response that a client passes on. */
const USAGE = ['usage', 'usageMetadata', 'usage_metadata'];

/** A figure of a usage object, as an object, JSON text or printed Python. @param read converts the figure */
export function usageObject(figure: UsageFigure, read: Reader = count): Reader {
  const readNumber = numberBy(read);
  return (value) => {
    const usage = objectOf(value);
    return usage === undefined ? undefined : usageFigure(usage, figure, readNumber);
  };
}

/** A part of the input, from the object with the details of the input. */
export function inputDetail(part: UsagePart): Reader {
  return (value) => detail('input_tokens_details', part, value);
}

/** A part of the output, from the object with the details of the output. */
export function outputDetail(part: UsagePart): Reader {
  return (value) => detail('output_tokens_details', part, value);
}

/** From provider metadata, under the name of each provider: `{openai: {cachedPromptTokens: 64}}`. */
export function ofProvider(part: UsagePart): Reader {
  const readNumber = numberBy(count);
  return (value) => {
    for (const entry of Object.values(objectOf(value) ?? {})) {
      if (!isObject(entry)) continue;
      for (const usage of [entry, ...USAGE.map((name) => entry[name])]) {
        const found = isObject(usage) ? usageFigure(usage, part, readNumber) : undefined;
        if (found !== undefined) return found;
      }
    }
    return undefined;
  };
}

function detail(within: string, part: UsagePart, value: JsonValue): number | undefined {
  const object = objectOf(value);
  return object === undefined ? undefined : usageFigure({ [within]: object }, part, numberBy(count));
}

function numberBy(read: Reader): (value: JsonValue) => number | undefined {
  return (value) => {
    const found = read(value);
    return typeof found === 'number' ? found : undefined;
  };
}
