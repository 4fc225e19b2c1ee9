/*
 * The bodies of the wrapped calls, by family. Each has the arguments of its calls in
 * mpi_calls.def, with counts as MPI_Count and, for the calls that exist in two forms, first the
 * real call and whether it is the large-count form.
 */
#ifndef SHIM_WRAP_H
#define SHIM_WRAP_H

#include <stdbool.h>

#include "shim/calls.h"
#include "shim/mpi_header.h"
#include "shim/requests.h"
#include "shim/shim.h"

typedef __typeof__(call_MPI_Send) send_fn;
typedef __typeof__(call_MPI_Isend) isend_fn;
typedef __typeof__(call_MPI_Recv) recv_fn;
typedef __typeof__(call_MPI_Irecv) irecv_fn;
typedef __typeof__(call_MPI_Sendrecv) sendrecv_fn;
typedef __typeof__(call_MPI_Sendrecv_replace) sendrecv_replace_fn;
typedef __typeof__(call_MPI_Mrecv) mrecv_fn;
typedef __typeof__(call_MPI_Imrecv) imrecv_fn;

/* Passes a call's result on, after completing receives that the program freed (SYNC calls too). */
static inline int wrap_done(int rc)
{
    if (UNLIKELY(atomic_load_explicit(&requests_freed, memory_order_relaxed) != 0))
        requests_poll();
    return rc;
}

/* wrap_init.c */
int wrap_init_single(int *argc, char ***argv);
int wrap_init_thread(int *argc, char ***argv, int required, int *provided);
int wrap_finalize(void);

/* wrap_send.c */
typedef int wrap_send_fn(send_fn *real, bool large, const void *buf, MPI_Count count,
                         MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
wrap_send_fn wrap_send_blocking, wrap_send_synchronous;
typedef int wrap_isend_fn(isend_fn *real, bool large, const void *buf, MPI_Count count,
                          MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                          MPI_Request *request);
wrap_isend_fn wrap_isend, wrap_isend_synchronous;

/* wrap_recv.c */
int wrap_recv(recv_fn *real, bool large, void *buf, MPI_Count count, MPI_Datatype datatype,
              int source, int tag, MPI_Comm comm, MPI_Status *status);
int wrap_irecv(irecv_fn *real, bool large, void *buf, MPI_Count count, MPI_Datatype datatype,
               int source, int tag, MPI_Comm comm, MPI_Request *request);
int wrap_mrecv(mrecv_fn *real, bool large, void *buf, MPI_Count count, MPI_Datatype datatype,
               MPI_Message *message, MPI_Status *status);
int wrap_imrecv(imrecv_fn *real, bool large, void *buf, MPI_Count count, MPI_Datatype datatype,
                MPI_Message *message, MPI_Request *request);

/*
 * Sends a frame with real, tracks it, and gives the buffer back when it has gone: also where the
 * call fails.
 */
int wrap_isend_frame(isend_fn *real, bool large, const outgoing_t *out, int dest, int tag,
                     MPI_Comm comm, MPI_Request *request);

/* Whether MPI says that a request is complete, without completing it. */
bool wrap_is_complete(MPI_Request request);

/* wrap_sendrecv.c */
int wrap_sendrecv(sendrecv_fn *real, bool large, const void *sendbuf, MPI_Count sendcount,
                  MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, MPI_Count recvcount,
                  MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                  MPI_Status *status);
int wrap_sendrecv_replace(sendrecv_replace_fn *real, bool large, void *buf, MPI_Count count,
                          MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                          MPI_Comm comm, MPI_Status *status);
#if MPI_VERSION >= 4
int wrap_isendrecv(__typeof__(call_MPI_Isendrecv) *real, bool large, const void *sendbuf,
                   MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                   MPI_Comm comm, MPI_Request *request);
int wrap_isendrecv_replace(__typeof__(call_MPI_Isendrecv_replace) *real, bool large, void *buf,
                           MPI_Count count, MPI_Datatype datatype, int dest, int sendtag,
                           int source, int recvtag, MPI_Comm comm, MPI_Request *request);
#endif

/* wrap_persistent.c */
wrap_isend_fn wrap_send_init, wrap_bsend_init, wrap_ssend_init, wrap_rsend_init;
int wrap_recv_init(irecv_fn *real, bool large, void *buf, MPI_Count count, MPI_Datatype datatype,
                   int source, int tag, MPI_Comm comm, MPI_Request *request);
int wrap_start(MPI_Request *request);
int wrap_startall(int count, MPI_Request array_of_requests[]);

/* wrap_probe.c */
int wrap_probe(int source, int tag, MPI_Comm comm, MPI_Status *status);
int wrap_iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status);
int wrap_mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status);
int wrap_improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                 MPI_Status *status);

/* wrap_wait.c */
int wrap_wait(MPI_Request *request, MPI_Status *status);
int wrap_waitany(int count, MPI_Request array_of_requests[], int *indx, MPI_Status *status);
int wrap_waitall(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[]);
int wrap_waitsome(int incount, MPI_Request array_of_requests[], int *outcount,
                  int array_of_indices[], MPI_Status array_of_statuses[]);
int wrap_test(MPI_Request *request, int *flag, MPI_Status *status);
int wrap_testany(int count, MPI_Request array_of_requests[], int *indx, int *flag,
                 MPI_Status *status);
int wrap_testall(int count, MPI_Request array_of_requests[], int *flag,
                 MPI_Status array_of_statuses[]);
int wrap_testsome(int incount, MPI_Request array_of_requests[], int *outcount,
                  int array_of_indices[], MPI_Status array_of_statuses[]);

/* wrap_request.c */
int wrap_request_free(MPI_Request *request);
int wrap_request_get_status(MPI_Request request, int *flag, MPI_Status *status);
int wrap_cancel(MPI_Request *request);

/* wrap_objects.c: communicators, datatypes, files */
int wrap_comm_free(MPI_Comm *comm);
int wrap_comm_disconnect(MPI_Comm *comm);
int wrap_type_free(MPI_Datatype *datatype);
int wrap_file_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh);
void wrap_learn_comm(MPI_Comm comm);

#endif
