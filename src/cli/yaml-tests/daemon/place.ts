import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, normalize } from 'node:path';
import { generateKey } from '../../../auth/keys.js';
import type { Config, ConfiguredComponent } from '../../../config/config.js';
import { parseEndpoint } from '../../../config/endpoint.js';
import { COMPONENT_SECTIONS } from '../../../config/file-schema.js';
import { formattedValues } from '../../../config/formatted-values.js';
import { duckdbExtension } from '../../../extensions/duckdb/factory.js';

import { TEST_END } from './ends.js';

/** Replacements for port 0: each text is a separate listener. */
const FREE = ['127.0.0.1', 'localhost'].flatMap((host) =>
  ['0', '00', '000', '0000', '00000'].map((port) => `${host}:${port}`),
);

type Section = Record<string, unknown>;

/** Isolates a daemon under test: its files go to a folder, its listeners to free ports. */
export class Place {
  readonly #folder: string;
  /** Files that exist in the folder from the start. */
  readonly #given: ReadonlySet<string>;
  /** Listeners on free ports, by configured endpoint. */
  readonly #endpoints = new Map<string, string>();

  /** @param files given to the daemon, by configured path */
  static async make(folder: string, files: ReadonlyMap<string, string>): Promise<Place> {
    const place = new Place(folder, new Set([...files.keys()].map((path) => normalize(path))));
    for (const [path, text] of files) {
      await mkdir(dirname(place.pathOf(path)), { recursive: true });
      await writeFile(place.pathOf(path), text);
    }
    return place;
  }

  private constructor(folder: string, given: ReadonlySet<string>) {
    this.#folder = folder;
    this.#given = given;
  }

  /** The path of a file named in a configuration. */
  pathOf(path: string): string {
    return isAbsolute(path) && !this.#given.has(normalize(path)) ? path : join(this.#folder, path);
  }

  /**
   * The real endpoint for a configured one.
   *
   * @param host as in the test: `127.0.0.1:4319`, or another name of this machine with that port
   */
  endpointOf(host: string): string | undefined {
    const port = parseEndpoint(host)?.port;
    const found = [...this.#endpoints].find(([configured]) => parseEndpoint(configured)?.port === port);
    return this.#endpoints.get(host) ?? found?.[1];
  }

  /**
   * The sections to merge over a configuration, and a key with all scopes.
   *
   * @throws Error if the configuration has more listeners than free endpoints
   */
  overlay(config: Config): { readonly sections: Section; readonly key: string } {
    const key = config.auth.bootstrap_key ?? generateKey();
    const metrics = config.service.telemetry.metrics.endpoint ?? '';
    const sections: Record<string, Section> = {
      auth: { bootstrap_key: key },
      receivers: { [TEST_END]: {} },
      exporters: { [TEST_END]: {} },
      service: {
        telemetry: { metrics: { endpoint: metrics === '' ? '' : this.#free(metrics) } },
        pipelines: Object.fromEntries(
          Object.entries(config.service.pipelines).map(([name, { receivers, exporters }]) => [
            name,
            { receivers: [...receivers, TEST_END], exporters: [...exporters, TEST_END] },
          ]),
        ),
      },
    };
    for (const components of Object.values(config.components))
      for (const component of components.values()) {
        const section = (sections[COMPONENT_SECTIONS[component.kind]] ??= {});
        section[component.id] = this.#moved(component);
      }
    return { sections, key };
  }

  #moved({ config, factory, isValid }: ConfiguredComponent): Section {
    // Relocating paths may fix its problems, such as a missing file.
    const resources = isValid ? (factory.resources?.(config) ?? []) : [];
    const read = new Set(
      resources.flatMap((resource) => {
        if (resource.kind === 'readable_file') return resource.path;
        if (resource.kind !== 'tls_files') return [];
        return [resource.certFile, resource.keyFile, resource.clientCaFile ?? ''];
      }),
    );
    const moved: Section = {};
    for (const { format, text, path } of formattedValues(config, factory.configSchema)) {
      const isEndpoint = format === 'jackdaw-endpoint' || format === 'jackdaw-optional-endpoint';
      if (isEndpoint && text !== '') put(moved, path, this.#free(text));
      const isOutside = read.has(text) && !this.#given.has(normalize(text));
      if (format === 'jackdaw-path' && !isOutside) put(moved, path, this.pathOf(text));
    }
    // No reserved disk space: tests do not fill the disk.
    if (factory.type === duckdbExtension.type) moved['reserve'] = 0;
    return moved;
  }

  #free(endpoint: string): string {
    const known = this.#endpoints.get(endpoint);
    if (known !== undefined) return known;
    const free = FREE[this.#endpoints.size];
    if (free === undefined) throw new Error(`a test can have at most ${FREE.length} endpoints`);
    this.#endpoints.set(endpoint, free);
    return free;
  }
}

/** @param path through maps only: values in lists are not replaced */
function put(section: Section, path: readonly string[], value: string): void {
  const [key = '', ...rest] = path;
  if (rest.length === 0) section[key] = value;
  else put((section[key] ??= {}) as Section, rest, value);
}
