/** The mail server of the daemon (section `smtp`). */
export interface SmtpSettings {
  /** A name or an address. */
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte. */
  readonly secure: boolean;
  /** Nothing is sent without TLS and a trusted certificate. */
  readonly requireTls: boolean;
  /** Null for no authentication. The password must never be shown. */
  readonly login: { readonly user: string; readonly password: string } | null;
  /** `alerts@example.com`, or with a display name: `Jackdaw <alerts@example.com>`. */
  readonly from: string;
}
