import { Type, type Static } from 'typebox';
import { extensionId, optionalEndpoint, section } from '../../config/schema.js';

export const uiConfigSchema = section(
  {
    api: extensionId({
      default: 'query',
      description: 'Id of the API extension that the pages use.',
    }),
    endpoint: optionalEndpoint({
      default: null,
      description:
        'Address that serves the pages; null uses that of the API. Others need a proxy to share the origin.',
    }),
    base_path: Type.Optional(
      Type.Unsafe<string>({
        type: 'string',
        pattern: '^/([A-Za-z0-9._~-]+/)*$',
        patternErrorMessage: 'must be a path from slash to slash, such as /jackdaw/',
        description:
          'Path prefix that a proxy strips before forwarding. Default: the path of public_url, or /.',
      }),
    ),
    public_url: Type.Optional(
      Type.Unsafe<string>({
        type: 'string',
        pattern: '^https?://[^/?#@\\s]+(/[A-Za-z0-9._~-]+)*/?$',
        patternErrorMessage:
          'must be the address of the pages in a browser, such as https://jackdaw.example.com/',
        description:
          'URL of the pages in a browser if a proxy is in front. Requests to its host are accepted.',
      }),
    ),
  },
  { description: 'The web pages.' },
);

export type UiConfig = Static<typeof uiConfigSchema>;

/** @returns one message for each broken rule that the schema cannot express */
export function checkUiConfig({ base_path, public_url }: UiConfig): readonly {
  readonly path: string;
  readonly message: string;
}[] {
  if (public_url === undefined) return [];
  if (!URL.canParse(public_url))
    return [{ path: '/public_url', message: 'is not a URL: use one such as https://jackdaw.example.com/' }];
  const path = pathOf(new URL(public_url));
  if (base_path === undefined || base_path === path) return [];
  return [
    {
      path: '/base_path',
      message: `is not the path of public_url, which is ${path}: remove one of them, or make them equal`,
    },
  ];
}

/** How browsers reach the pages. */
export interface PublicPlace {
  /** Begins and ends with a slash. */
  readonly basePath: string;
  /** Null: the URL of the listener. */
  readonly publicUrl: URL | null;
}

export function publicPlace({ base_path, public_url }: UiConfig): PublicPlace {
  const publicUrl = public_url === undefined ? null : new URL(public_url);
  return { publicUrl, basePath: base_path ?? (publicUrl === null ? '/' : pathOf(publicUrl)) };
}

function pathOf({ pathname }: URL): string {
  return pathname.endsWith('/') ? pathname : `${pathname}/`;
}
