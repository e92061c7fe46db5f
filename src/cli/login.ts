import { Command } from 'commander';
import { createSessionLink } from '../api/resources/browser-sessions.js';
import { ApiClient, withApiOptions, type ApiOptions } from './api-client.js';
import type { CliIo } from './io.js';
import { showJson } from './table.js';

export function loginCommand(io: CliIo): Command {
  return withApiOptions(
    new Command('login').description('Print a link that logs a browser in once, within 15 minutes.'),
  )
    .option('--json', 'print JSON')
    .action(async (options: ApiOptions & { readonly json?: boolean }) => {
      const client = await ApiClient.open(options, io);
      const link = await client.call(createSessionLink);
      if (options.json === true) {
        showJson(io, link);
        return;
      }
      io.err('Open this once, within 15 minutes. The browser can then do what the key can:');
      io.out(link.url);
    });
}
