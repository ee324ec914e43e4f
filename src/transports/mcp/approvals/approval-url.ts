/** The page on which the people behind an agent decide. */
export function approvalUrl(public_url: string, id: string): string {
  return `${public_url}/console/approvals/${id}`;
}
