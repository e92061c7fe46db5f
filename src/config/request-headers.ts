import { Type } from 'typebox';
import { secret } from './schema.js';

/** The key `headers` of components that make requests. @param options `hasExpressions`: whether values may contain expressions */
export function headersSection(
  description: string,
  { hasExpressions = false }: { readonly hasExpressions?: boolean } = {},
) {
  return Type.Record(
    Type.String(),
    secret({
      description: 'Value of the header. It is never shown.',
      ...(hasExpressions && { hasExpressions }),
    }),
    { default: {}, description },
  );
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** As RFC 9110 defines them: visible characters, spaces and tabs. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers that belong to the connection, or that follow from the body. */
const OWN_HEADERS: readonly string[] = [
  'content-encoding',
  'content-length',
  'transfer-encoding',
  'host',
  'connection',
];

/** Whether a value can be sent. */
export function isHeaderValue(value: string): boolean {
  return HEADER_VALUE.test(value);
}

/**
 * Checks rules that the schema cannot express. Errors never contain header values.
 *
 * @param own lower-case names that the exporter sets itself, in addition to connection headers
 */
export function checkHeaders(
  headers: Readonly<Record<string, string>>,
  own: readonly string[] = [],
): readonly { readonly path: string; readonly message: string }[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const path = `/headers/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const lower = name.toLowerCase();
    if (!HEADER_NAME.test(name)) return [{ path, message: 'is not the name of a header' }];
    if (OWN_HEADERS.includes(lower) || own.includes(lower))
      return [{ path, message: 'is set by the exporter' }];
    if (!isHeaderValue(value))
      return [
        {
          path,
          message: 'has a value with characters that are not allowed in a header, such as a line break',
        },
      ];
    return [];
  });
}
