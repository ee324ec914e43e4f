/** A body for an address that a stranger named. */
export interface Letter {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** What came back: the status, or why there is none. */
export interface Posted {
  status: number | null;
  /** In a few words, and without any of the receiver's own. */
  fault: string | null;
  /** Milliseconds for which a receiver that refuses (429, 503) asks to be left alone; absent when it does not. */
  rest?: number;
}

/** Posts to addresses that strangers name, and to no place that they must not reach through us. */
export interface Courier {
  /** Why nothing is ever posted to this address, as far as the address itself tells; undefined when it does not. */
  refusal(url: string): string | undefined;
  /** Never rejects. */
  post(letter: Letter): Promise<Posted>;
}

/** Whether the receiver took it. */
export function wasTaken({ status }: Posted): boolean {
  return status !== null && status >= 200 && status < 300;
}
