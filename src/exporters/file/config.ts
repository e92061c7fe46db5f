import { Type, type Static } from 'typebox';
import { duration, filePath, section, size } from '../../config/schema.js';
import { deliveryKeys } from '../../delivery/queue/config.js';

export const fileConfig = section({
  path: filePath({
    default: './data/telemetry.jsonl',
    description: 'Path of the file. Missing directories are created.',
  }),
  append: Type.Boolean({
    default: true,
    description: 'Whether to append to an existing file at start. If false, the file is emptied.',
  }),
  flush_interval: duration({
    default: '1s',
    description: 'Interval between fsync calls. With 0s the operating system decides.',
  }),
  rotation: section(
    {
      max_size: size({
        default: '100MiB',
        description: 'Size at which the file is rotated. 0: never.',
      }),
      max_backups: Type.Integer({
        default: 100,
        minimum: 0,
        description: 'Rotated files to keep; the oldest are deleted. 0: keep all.',
      }),
    },
    { description: 'When the file is renamed to NAME-TIME.EXTENSION and a new one is started.' },
  ),
  ...deliveryKeys({ timeout: '30s', concurrency: 1, batchWait: '1s' }),
});

export type FileConfig = Static<typeof fileConfig>;
