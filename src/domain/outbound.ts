/** A body for an address that a stranger named. */
export interface OutboundRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** What came back: the status, or why there is none. */
export interface OutboundResponse {
  status: number | null;
  /** In a few words, and without any of the receiver's own. */
  fault: string | null;
  /** Milliseconds for which a receiver that refuses (429, 503) asks to be left alone; absent when it does not. */
  rest?: number;
}

/** Posts to addresses that strangers name, and to no place that they must not reach through us. */
export interface WebhookSender {
  /** Why nothing is ever posted to this address, as far as the address itself tells; undefined when it does not. */
  checkUrl(url: string): string | undefined;
  /** Never rejects. */
  send(letter: OutboundRequest): Promise<OutboundResponse>;
}

/** Whether the receiver took it. */
export function isDelivered({ status }: OutboundResponse): boolean {
  return status !== null && status >= 200 && status < 300;
}
