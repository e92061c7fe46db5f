/** Encrypts secrets that a store must be able to return, so that its files do not reveal them. */
export interface SecretBox {
  /**
   * @param owner the owner of the secret: it cannot be decrypted for another owner
   * @throws Error if there is no key yet and none can be created
   */
  seal(secret: string, owner: string): Promise<string>;
  /** @throws Error that names the place of the key and the remedy if the secret was sealed with another key or for another owner */
  open(sealed: string, owner: string): Promise<string>;
}
