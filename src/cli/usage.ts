import { Command } from 'commander';
import { readUsage } from '../api/resources/usage.js';
import { ApiClient, withApiOptions, type ApiOptions } from './api-client.js';
import type { CliIo } from './io.js';
import { showJson, showList } from './table.js';

/** `jackdaw usage`: the monthly quota and storage usage of the key's user. */
export function usageCommand(io: CliIo): Command {
  return withApiOptions(new Command('usage').description('Show used monthly quota and storage.'))
    .option('--json', 'print JSON')
    .action(async (options: ApiOptions & { readonly json?: boolean }) => {
      const client = await ApiClient.open(options, io);
      const usage = await client.call(readUsage);
      if (options.json === true) {
        showJson(io, usage);
        return;
      }
      showList(io, [usage], {
        columns: [
          { title: 'month', show: ({ period }) => period },
          { title: 'events', show: ({ used }) => used },
          { title: 'limit', show: ({ limit }) => limit },
          { title: 'resets', show: ({ resets_at }) => resets_at },
          { title: 'stored bytes', show: ({ stored_bytes }) => stored_bytes.used },
          { title: 'storage limit', show: ({ stored_bytes }) => stored_bytes.limit },
        ],
        none: '',
      });
    });
}
