/** Puts a text into the clipboard. False: there is none, or the browser forbids it; the text can be selected instead. */
export async function copyText(text: string): Promise<boolean> {
  const { clipboard } = navigator as { clipboard?: Clipboard };
  try {
    await clipboard?.writeText(text);
    return clipboard !== undefined;
  } catch {
    return false;
  }
}
