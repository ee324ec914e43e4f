/**
 * Sends items, one call of `send` at a time: items that arrive during a call share the next one. Unlike a batcher it sends the first item
 * at once, and has no maximum size.
 * @returns resolves or rejects with the call that carried the items.
 */
export function coalesceSends<Item>(
  send: (items: Item[]) => Promise<void>,
): (items: readonly Item[]) => Promise<void> {
  let lastSent: Promise<void> = Promise.resolve();
  let next: { items: Item[]; sent: Promise<void> } | undefined;
  return async (items) => {
    if (!next) {
      const collected: Item[] = [];
      const sendNext = (): Promise<void> => {
        next = undefined;
        return send(collected);
      };
      lastSent = lastSent.then(sendNext, sendNext);
      next = { items: collected, sent: lastSent };
    }
    for (const item of items) next.items.push(item);
    await next.sent;
  };
}
