! An MPI program in Fortran, by each of the three bindings (-DBINDING_MPIFH, _USE_MPI, _F08): all
! ranks in a ring send to the right and receive from the left, by every kind of call. What can be
! observed is written to $MT_OUT/ring.RANK, as the C test programs do.
#if defined(BINDING_F08)
#define BINDING use mpi_f08
#define COMM_T type(MPI_Comm)
#define TYPE_T type(MPI_Datatype)
#define REQUEST_T type(MPI_Request)
#define MESSAGE_T type(MPI_Message)
#define STATUS_T(name) type(MPI_Status) :: name
#define STATUSES_T(name, n) type(MPI_Status) :: name(n)
#define SOURCE_OF(s) s%MPI_SOURCE
#define TAG_OF(s) s%MPI_TAG
#define STATUS_OF(s, i) s(i)
#define VALUE_OF(handle) handle%MPI_VAL
#else
#define BINDING use ring_binding
#define COMM_T integer
#define TYPE_T integer
#define REQUEST_T integer
#define MESSAGE_T integer
#define STATUS_T(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES_T(name, n) integer :: name(MPI_STATUS_SIZE, n)
#define SOURCE_OF(s) s(MPI_SOURCE)
#define TAG_OF(s) s(MPI_TAG)
#define STATUS_OF(s, i) s(:, i)
#define VALUE_OF(handle) handle

module ring_binding
#if defined(BINDING_USE_MPI)
  use mpi
  implicit none
#else
  implicit none
  include 'mpif.h'
#endif
end module
#endif

module ring_parts
  BINDING
  use iso_c_binding, only: c_int, c_ptr
  implicit none
  integer, parameter :: n = 6000
  integer :: rank, ranks, left, right, notes

  interface
    ! What a C part of the same program does (partner.c). Handles as Fortran has them.
    subroutine partner_exchange(comm, out, in, n, left, right) bind(c)
      import c_int
      integer(c_int), value :: comm, n, left, right
      real, intent(in) :: out(*)
      real, intent(out) :: in(*)
    end subroutine
    subroutine partner_wait(request, bytes) bind(c)
      import c_int
      integer(c_int), intent(inout) :: request
      integer(c_int), intent(out) :: bytes
    end subroutine
  end interface

contains

  subroutine begin()
    character(len=4096) :: folder
    character(len=16) :: number
    integer :: ierr
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    left = mod(rank + ranks - 1, ranks)
    right = mod(rank + 1, ranks)
    call get_environment_variable('MT_OUT', folder)
    write (number, '(i0)') rank
    open (newunit=notes, file=trim(folder) // '/ring.' // trim(number), action='write')
  end subroutine

  subroutine note(label, values)
    character(len=*), intent(in) :: label
    integer, intent(in) :: values(:)
    write (notes, '(a, 8(1x, i0))') label, values
  end subroutine

  subroutine note_status(label, status, datatype)
    character(len=*), intent(in) :: label
    STATUS_T(status)
    TYPE_T, intent(in) :: datatype
    integer :: count, ierr
    call MPI_Get_count(status, datatype, count, ierr)
    call note('status ' // label, [SOURCE_OF(status), TAG_OF(status), count])
  end subroutine

  pure real function expected(i, seed)
    integer, intent(in) :: i, seed
    expected = real(mod(7 * i + 13 * seed, 64) - 32) / 4
  end function

  subroutine fill(data, seed)
    real, intent(out) :: data(:)
    integer, intent(in) :: seed
    integer :: i
    data = [(expected(i, seed), i = 1, size(data))]
  end subroutine

  subroutine check(label, data, seed)
    character(len=*), intent(in) :: label
    real, intent(in) :: data(:)
    integer, intent(in) :: seed
    real :: wanted(size(data))
    call fill(wanted, seed)
    if (all(data == wanted)) then
      write (notes, '(3a)') 'data ', label, ' exact'
    else
      write (notes, '(3a, 2(1x, f0.6))') 'data ', label, ' off', &
        sqrt(sum((data - wanted)**2) / sum(wanted**2)), &
        maxval(abs(data - wanted)) / maxval(abs(wanted))
    end if
  end subroutine

  subroutine blocking()
    real :: out(n), in(n)
    double precision :: out2(n), in2(n)
    integer :: out3(n), in3(n), i, ierr, room
    STATUS_T(status)
    real, allocatable, asynchronous :: attached(:)
#if defined(BINDING_F08)
    type(c_ptr) :: detached
#else
    integer :: detached(2)
#endif
    call fill(out, rank)
    call MPI_Sendrecv(out, n, MPI_REAL, right, 1, in, n, MPI_REAL, left, 1, MPI_COMM_WORLD, &
                      status, ierr)
    call check('sendrecv', in, left)
    call note_status('sendrecv', status, MPI_REAL)
    call MPI_Sendrecv(out, n, MPI_REAL, right, 1, in, n, MPI_REAL, MPI_ANY_SOURCE, MPI_ANY_TAG, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call check('sendrecv-ignore', in, left)
    call MPI_Sendrecv_replace(out, n, MPI_REAL, right, 2, left, 2, MPI_COMM_WORLD, status, ierr)
    call check('sendrecv-replace', out, left)
    call note_status('sendrecv-replace', status, MPI_REAL)
    out2 = 0.25d0 * rank
    call MPI_Sendrecv(out2, n, MPI_DOUBLE_PRECISION, right, 3, in2, n, MPI_DOUBLE_PRECISION, &
                      left, 3, MPI_COMM_WORLD, status, ierr)
    call note('doubles', [merge(1, 0, all(in2 == 0.25d0 * left))])
    call note_status('doubles', status, MPI_DOUBLE_PRECISION)
    out3 = [(mod(i, 10) + rank, i = 1, n)]
    call MPI_Sendrecv(out3, n, MPI_INTEGER, right, 4, in3, n, MPI_INTEGER, left, 4, &
                      MPI_COMM_WORLD, status, ierr)
    call note('integers', [merge(1, 0, all(in3 == out3 - rank + left))])

    ! One after the other round the ring, since MPI_Ssend waits for its receive.
    call fill(out, rank + 50)
    room = 2 * 4 * n + 2 * MPI_BSEND_OVERHEAD
    allocate (attached(room / 4 + 1))
    call MPI_Buffer_attach(attached, room, ierr)
    call MPI_Bsend(out, n, MPI_REAL, right, 5, MPI_COMM_WORLD, ierr)
    call MPI_Recv(in, n, MPI_REAL, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call check('bsend', in, left + 50)
    if (rank == 0) call MPI_Ssend(out, n, MPI_REAL, right, 6, MPI_COMM_WORLD, ierr)
    call MPI_Recv(in, n, MPI_REAL, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, status, ierr)
    if (rank /= 0) call MPI_Ssend(out, n, MPI_REAL, right, 6, MPI_COMM_WORLD, ierr)
    call check('ssend', in, left + 50)
    call note_status('ssend', status, MPI_REAL)
    call MPI_Buffer_detach(detached, room, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end subroutine

  subroutine nonblocking()
    integer, parameter :: k = 4
    real, asynchronous :: out(n, k), in(n, k)
    REQUEST_T :: requests(2 * k)
    STATUSES_T(statuses, 2 * k)
    STATUS_T(status)
    integer :: i, done, which, indices(2 * k), ierr, round
    logical :: flag
    do i = 1, k
      call fill(out(:, i), 10 * rank + i)
    end do
    do round = 1, 8
      in = -1
      do i = 1, k
        call MPI_Irecv(in(:, i), n, MPI_REAL, left, i, MPI_COMM_WORLD, requests(i), ierr)
        call MPI_Isend(out(:, i), n, MPI_REAL, right, i, MPI_COMM_WORLD, requests(k + i), ierr)
      end do
      select case (round)
      case (1)
        call MPI_Waitall(2 * k, requests, statuses, ierr)
        do i = 1, k
          call note_status('waitall', STATUS_OF(statuses, i), MPI_REAL)
        end do
      case (2)
        call MPI_Waitall(2 * k, requests, MPI_STATUSES_IGNORE, ierr)
      case (3)
        do i = 1, 2 * k
          call MPI_Wait(requests(i), status, ierr)
          if (i <= k) call note_status('wait', status, MPI_REAL)
        end do
      case (4)
        do i = 1, 2 * k
          call MPI_Waitany(2 * k, requests, which, MPI_STATUS_IGNORE, ierr)
        end do
      case (5)
        i = 0
        do while (i < 2 * k)
          call MPI_Waitsome(2 * k, requests, done, indices, statuses, ierr)
          i = i + done
        end do
      case (6)
        do i = 1, 2 * k
          flag = .false.
          do while (.not. flag)
            call MPI_Request_get_status(requests(i), flag, status, ierr)
          end do
          call MPI_Test(requests(i), flag, status, ierr)
          if (i <= k) call note_status('test', status, MPI_REAL)
        end do
      case (7)
        flag = .false.
        do while (.not. flag)
          call MPI_Testall(2 * k, requests, flag, MPI_STATUSES_IGNORE, ierr)
        end do
      case (8)
        i = 0
        do while (i < 2 * k)
          call MPI_Testany(2 * k, requests, which, flag, status, ierr)
          if (flag .and. which /= MPI_UNDEFINED) i = i + 1
          call MPI_Testsome(2 * k, requests, done, indices, MPI_STATUSES_IGNORE, ierr)
          if (done /= MPI_UNDEFINED) i = i + done
        end do
      end select
      call note('null', [merge(1, 0, [(requests(i) == MPI_REQUEST_NULL, i = 1, 2 * k)])])
      do i = 1, k
        call check('nonblocking', in(:, i), 10 * left + i)
      end do
    end do
  end subroutine

  subroutine probing()
    real, asynchronous :: out(n), in(n)
    REQUEST_T :: request, receive
    MESSAGE_T :: message
    STATUS_T(status)
    integer :: ierr, round
    logical :: flag
    call fill(out, rank + 3)
    do round = 1, 4
      in = -1
      call MPI_Isend(out, n - round, MPI_REAL, right, round, MPI_COMM_WORLD, request, ierr)
      flag = .false.
      select case (round)
      case (1)
        call MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierr)
      case (2)
        do while (.not. flag)
          call MPI_Iprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, flag, status, ierr)
        end do
      case (3)
        call MPI_Mprobe(left, round, MPI_COMM_WORLD, message, status, ierr)
      case (4)
        do while (.not. flag)
          call MPI_Improbe(MPI_ANY_SOURCE, round, MPI_COMM_WORLD, flag, message, status, ierr)
        end do
      end select
      call note_status('probe', status, MPI_REAL)
      select case (round)
      case (1, 2)
        call MPI_Recv(in, n, MPI_REAL, SOURCE_OF(status), TAG_OF(status), MPI_COMM_WORLD, status, &
                      ierr)
      case (3)
        call MPI_Mrecv(in, n, MPI_REAL, message, status, ierr)
      case (4)
        call MPI_Imrecv(in, n, MPI_REAL, message, receive, ierr)
        call MPI_Wait(receive, status, ierr)
      end select
      if (round >= 3) call note('message null', [merge(1, 0, message == MPI_MESSAGE_NULL)])
      call note_status('after probe', status, MPI_REAL)
      call check('probed', in(1:n - round), left + 3)
      call note('past the end', [merge(1, 0, all(in(n - round + 1:) == -1))])
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end do
  end subroutine

  subroutine persistent()
    real, asynchronous :: out(n), in(n)
    REQUEST_T :: requests(2)
    STATUSES_T(statuses, 2)
    integer :: ierr, round
    call MPI_Send_init(out, n, MPI_REAL, right, 9, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Recv_init(in, n, MPI_REAL, left, 9, MPI_COMM_WORLD, requests(2), ierr)
    do round = 1, 3
      call fill(out, rank + round)
      in = -1
      if (round == 1) then
        call MPI_Start(requests(1), ierr)
        call MPI_Start(requests(2), ierr)
      else
        call MPI_Startall(2, requests, ierr)
      end if
      call MPI_Waitall(2, requests, statuses, ierr)
      call note_status('persistent', STATUS_OF(statuses, 2), MPI_REAL)
      call check('persistent', in, left + round)
    end do
    call MPI_Request_free(requests(1), ierr)
    call MPI_Request_free(requests(2), ierr)
  end subroutine

  ! Every other element, in and out; then communicators of the program's own.
  subroutine objects()
    real :: out(2 * n), in(2 * n)
    TYPE_T :: comb
    COMM_T :: twin, ring, half
    STATUS_T(status)
    integer :: ierr, me, members, dims(1)
    logical :: periods(1)
    out = 0
    call fill(out(1::2), rank)
    in = -1
    call MPI_Type_vector(n, 1, 2, MPI_REAL, comb, ierr)
    call MPI_Type_commit(comb, ierr)
    call MPI_Sendrecv(out, 1, comb, right, 1, in, 1, comb, left, 1, MPI_COMM_WORLD, status, ierr)
    call note_status('comb', status, MPI_REAL)
    call check('comb', in(1:2 * n:2), left)
    call note('gaps', [merge(1, 0, all(in(2:2 * n - 2:2) == -1))])
    call MPI_Type_free(comb, ierr)
#if defined(BINDING_F08)
    if (MPI_SUBARRAYS_SUPPORTED) then
      in = -1
      call MPI_Sendrecv(out(1::2), n, MPI_REAL, right, 1, in(1::2), n, MPI_REAL, left, 1, &
                        MPI_COMM_WORLD, status, ierr)
      call note_status('section', status, MPI_REAL)
      call check('section', in(1::2), left)
      call note('gaps', [merge(1, 0, all(in(2::2) == -1))])
    end if
#endif
    call MPI_Comm_dup(MPI_COMM_WORLD, twin, ierr)
    dims = [ranks]
    periods = [.true.]
    call MPI_Cart_create(twin, 1, dims, periods, .false., ring, ierr)
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, ierr)
    call MPI_Sendrecv(out, 2 * n, MPI_REAL, right, 1, in, 2 * n, MPI_REAL, left, 1, twin, status, &
                      ierr)
    call check('dup', in(1::2), left)
    call MPI_Sendrecv(out, 2 * n, MPI_REAL, right, 1, in, 2 * n, MPI_REAL, left, 1, ring, status, &
                      ierr)
    call check('cart', in(1::2), left)
    call MPI_Comm_rank(half, me, ierr)
    call MPI_Comm_size(half, members, ierr)
    call MPI_Sendrecv(out, 2 * n, MPI_REAL, mod(me + 1, members), 1, in, 2 * n, MPI_REAL, &
                      mod(me + members - 1, members), MPI_ANY_TAG, half, status, ierr)
    call note_status('split', status, MPI_REAL)
    call MPI_Comm_free(half, ierr)
    call MPI_Comm_free(ring, ierr)
    call MPI_Comm_free(twin, ierr)
  end subroutine

  ! C and Fortran in one process, and at the two ends of a message.
  subroutine mixed()
    real, target, asynchronous :: out(n), in(n)
    REQUEST_T :: requests(2)
    integer :: ierr, bytes
    call fill(out, rank)
    in = -1
    if (mod(rank, 2) == 0) then
      call partner_exchange(VALUE_OF(MPI_COMM_WORLD), out, in, n, left, right)
    else
      call MPI_Sendrecv(out, n, MPI_REAL, right, 8, in, n, MPI_REAL, left, 8, MPI_COMM_WORLD, &
                        MPI_STATUS_IGNORE, ierr)
    end if
    call check('c-and-fortran', in, left)
    in = -1
    call MPI_Irecv(in, n, MPI_REAL, left, 9, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Isend(out, n, MPI_REAL, right, 9, MPI_COMM_WORLD, requests(2), ierr)
    call partner_wait(VALUE_OF(requests(1)), bytes)
    call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierr)
    call check('waited-for-in-c', in, left)
    call note('bytes', [bytes])
  end subroutine

  subroutine errors()
    real :: out(n), in(n)
    REQUEST_T :: request
    COMM_T :: comm
    integer :: ierr, class, ignored
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierr)
    call fill(out, rank)
    in = -1
    call MPI_Isend(out, n, MPI_REAL, right, 1, comm, request, ierr)
    call MPI_Recv(in, n / 2, MPI_REAL, left, 1, comm, MPI_STATUS_IGNORE, ierr)
    call MPI_Error_class(ierr, class, ignored)
    call note('truncated', [merge(1, 0, class == MPI_ERR_TRUNCATE)])
    call note('past the end', [merge(1, 0, all(in(n / 2 + 1:) == -1))])
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call MPI_Comm_free(comm, ierr)
  end subroutine
end module

program ring
  use ring_parts
  implicit none
  integer :: ierr
#if defined(BINDING_USE_MPI)
  integer :: provided
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierr)
#else
  call MPI_Init(ierr)
#endif
  call begin()
  call blocking()
  call nonblocking()
  call probing()
  call persistent()
  call objects()
  call mixed()
  call errors()
  close (notes)
  call MPI_Finalize(ierr)
end program
