/** A JSON body for a URL that a client names. */
export interface OutboundRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** The status of the response, or why there is none. */
export interface OutboundResponse {
  status: number | null;
  /** A short text that contains nothing of the receiver's response. */
  error: string | null;
  /** The first 1,024 bytes of a response without a 2xx status. */
  response?: string;
  /** Milliseconds from the DNS lookup to the response. */
  duration_ms: number;
  /** Milliseconds that the receiver asks to wait (429 and 503 with Retry-After). */
  retryAfterMs?: number;
  /** The category of a failure without a response: `connection_refused` also if the address is not allowed. */
  failure?: 'connection_refused' | 'timeout' | 'tls_error';
}

/** Sends POST requests to URLs that clients name, and never to internal addresses. */
export interface WebhookSender {
  /** Why this URL is refused, judged by the URL alone; undefined when it is acceptable. */
  checkUrl(url: string): string | undefined;
  /** Never rejects. */
  send(request: OutboundRequest): Promise<OutboundResponse>;
  /** The same, with the first 1,024 bytes of the response body. Never rejects. */
  ask(request: OutboundRequest): Promise<OutboundResponse & { body: string }>;
}

/** Whether the receiver accepted the request with a 2xx status. */
export function isDelivered({ status }: Pick<OutboundResponse, 'status'>): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** The outcome of an attempt, as the metrics count it. */
export function attemptOutcome(
  response: Pick<OutboundResponse, 'status'>,
): 'delivered' | 'refused' | 'unreachable' {
  if (isDelivered(response)) return 'delivered';
  return response.status === null ? 'unreachable' : 'refused';
}
