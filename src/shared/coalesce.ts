/**
 * Sends at once when nothing is under way; calls that meet a sending under way travel together in the next one. Each call
 * resolves or rejects with the sending that carried its items.
 */
export function coalesceSends<Item>(
  send: (items: Item[]) => Promise<void>,
): (items: readonly Item[]) => Promise<void> {
  let underWay: Promise<void> = Promise.resolve();
  let next: { items: Item[]; sent: Promise<void> } | undefined;
  return async (items) => {
    if (!next) {
      const gathered: Item[] = [];
      const depart = (): Promise<void> => {
        next = undefined;
        return send(gathered);
      };
      underWay = underWay.then(depart, depart);
      next = { items: gathered, sent: underWay };
    }
    for (const item of items) next.items.push(item);
    await next.sent;
  };
}
