import { Type, type Static } from 'typebox';
import type { Resource } from '../../../component/factory.js';
import { filePath, section } from '../../../config/schema.js';
import { AddressPolicy } from './address-policy.js';

/** The key `targets` of every exporter that posts webhooks. */
export const targetsSection = section(
  {
    allow_cidrs: Type.Array(
      Type.String({ description: 'Network in CIDR notation, such as 10.0.0.0/8 or fd00::/8.' }),
      {
        uniqueItems: true,
        default: [],
        description:
          'Private networks that requests may go to. Metadata services need their exact address (/32, /128).',
      },
    ),
    ca_file: Type.Optional(
      filePath({ description: 'PEM file with certificates to trust in addition to the public ones.' }),
    ),
  },
  { description: 'Destinations allowed in addition to the public internet.' },
);

type Targets = Static<typeof targetsSection>;

/** Checks what the schema cannot express about `targets`, with the path of the key in the exporter's section. */
export function checkTargets({
  allow_cidrs,
}: Targets): readonly { readonly path: string; readonly message: string }[] {
  return allow_cidrs.flatMap((cidr, index) => {
    const message = problemOf(cidr);
    return message === null ? [] : [{ path: `/targets/allow_cidrs/${index}`, message }];
  });
}

export function resourcesOfTargets({ ca_file }: Targets): readonly Resource[] {
  return ca_file === undefined ? [] : [{ kind: 'readable_file', path: ca_file }];
}

function problemOf(cidr: string): string | null {
  try {
    new AddressPolicy([cidr]);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
