import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { DEFAULT_CONFIG } from '../src/cli/default-config.js';

/** Endpoint of every HTTP listener. Port 0 selects a free port. */
export const ENDPOINT = '127.0.0.1:0';
/** Endpoint of the gRPC listener. */
export const GRPC_ENDPOINT = 'localhost:0';

interface PipelineConfig {
  readonly receivers: readonly string[];
  readonly processors?: readonly string[];
  readonly exporters: readonly string[];
}

interface ServiceConfig {
  readonly service: { readonly pipelines: Readonly<Record<string, PipelineConfig>> };
}

export interface DaemonConfigOptions {
  /** Directory for the configuration and, in `data/`, the stores. */
  readonly directory: string;
  readonly key: string;
  /** Processors to remove from all pipelines. */
  readonly without?: readonly string[];
  /** A configuration file to merge over the others. */
  readonly extra?: string | undefined;
}

/**
 * Writes the built-in configuration, and changes of its ports, stores and key.
 *
 * @returns the files for `--config`, in order
 * @throws Error if no pipeline has a processor of `without`
 */
export async function writeDaemonConfig(options: DaemonConfigOptions): Promise<string[]> {
  const { directory, key, without = [], extra } = options;
  const data = join(directory, 'data');
  await mkdir(data, { recursive: true });
  const base = join(directory, 'built-in.yaml');
  const overlay = join(directory, 'bench.yaml');
  await writeFile(base, DEFAULT_CONFIG.text);
  await writeFile(
    overlay,
    stringify({
      auth: { bootstrap_key: key },
      extensions: {
        duckdb: { path: join(data, 'jackdaw.duckdb') },
        sqlite: { path: join(data, 'jackdaw.control.db') },
        query: { endpoint: ENDPOINT },
        health: { endpoint: ENDPOINT },
      },
      receivers: {
        trace_batch: { endpoint: ENDPOINT },
        otlp: {
          protocols: { http: { endpoint: ENDPOINT }, grpc: { endpoint: GRPC_ENDPOINT } },
          api_endpoint: ENDPOINT,
        },
      },
      service: {
        telemetry: { logs: { level: 'info', format: 'json' }, metrics: { endpoint: ENDPOINT } },
        ...(without.length > 0 && { pipelines: pipelinesWithout(without) }),
      },
    }),
    // It contains a key.
    { mode: 0o600 },
  );
  return extra === undefined ? [base, overlay] : [base, overlay, extra];
}

function pipelinesWithout(without: readonly string[]): Record<string, { processors: string[] }> {
  const { service } = parse(DEFAULT_CONFIG.text) as ServiceConfig;
  const pipelines = Object.entries(service.pipelines);
  const known = new Set(pipelines.flatMap(([, pipeline]) => pipeline.processors ?? []));
  for (const processor of without) {
    if (!known.has(processor)) {
      throw new Error(
        `--without ${processor}: no pipeline has this processor. Use one of: ${[...known].join(', ')}.`,
      );
    }
  }
  return Object.fromEntries(
    pipelines.map(([signal, { processors = [] }]) => [
      signal,
      { processors: processors.filter((processor) => !without.includes(processor)) },
    ]),
  );
}
