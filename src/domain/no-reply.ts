/** Whether a sender says, in the metadata of a message, that it wants no answer. */
export function wantsNoReply(metadata: unknown): boolean {
  return (
    typeof metadata === 'object' &&
    metadata !== null &&
    'no_reply_expected' in metadata &&
    metadata.no_reply_expected === true
  );
}
