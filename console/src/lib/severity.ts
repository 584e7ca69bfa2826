const worstFirst = ['critical', 'warning', 'info'];

/** severityRank orders severities, the worst first; one that is not known comes last. */
export function severityRank(severity: string): number {
  const rank = worstFirst.indexOf(severity);
  return rank < 0 ? worstFirst.length : rank;
}
