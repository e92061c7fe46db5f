/** Encrypts secrets that a store must be able to give back, so that its files do not give them away. */
export interface SecretBox {
  /**
   * @param owner what the secret belongs to: it opens for no other
   * @throws Error when there is no key yet and none can be made
   */
  seal(secret: string, owner: string): Promise<string>;
  /** @throws Error that names the key's place and the cure, when the secret was sealed with another key or for another owner */
  open(sealed: string, owner: string): Promise<string>;
}
